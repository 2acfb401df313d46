#include "onnx/proto.h"
#include "onnx/wire.h"

namespace onnx {
namespace {

std::pair<std::string, Attribute> parse_attribute(std::string_view message) {
  std::string name;
  Attribute attribute;
  for (const Field& field : read_fields(message)) {
    switch (field.number) {
      case 1:
        name = field.text();
        break;
      case 2:
        attribute.f = field.real();
        break;
      case 3:
        attribute.i = field.integer();
        break;
      case 4:
        attribute.s = field.text();
        break;
      case 5:
        attribute.t = parse_tensor(field.text());
        break;
      case 7:
        field.append_to(attribute.floats);
        break;
      case 8:
        field.append_to(attribute.ints);
        break;
      default:
        break;
    }
  }
  return {name, attribute};
}

Node parse_node(std::string_view message) {
  Node node;
  for (const Field& field : read_fields(message)) {
    switch (field.number) {
      case 1:
        node.inputs.emplace_back(field.text());
        break;
      case 2:
        node.outputs.emplace_back(field.text());
        break;
      case 4:
        node.op = field.text();
        break;
      case 5:
        node.attributes.insert(parse_attribute(field.text()));
        break;
      default:
        break;
    }
  }
  return node;
}

// The name of a ValueInfoProto.
std::string parse_name(std::string_view message) {
  for (const Field& field : read_fields(message))
    if (field.number == 1) return std::string(field.text());
  return "";
}

void parse_graph(std::string_view message, Model& model) {
  for (const Field& field : read_fields(message)) {
    switch (field.number) {
      case 1:
        model.nodes.push_back(parse_node(field.text()));
        break;
      case 5:
        ebb::detail::fail("GraphProto: initializers are not supported.");
      case 11:
        model.inputs.push_back(parse_name(field.text()));
        break;
      case 12:
        model.outputs.push_back(parse_name(field.text()));
        break;
      default:
        break;
    }
  }
}

}  // namespace

Model parse_model(std::string_view message) {
  Model model;
  for (const Field& field : read_fields(message)) {
    if (field.number == 7) parse_graph(field.text(), model);
    if (field.number != 8) continue;
    for (const Field& part : read_fields(field.text()))
      if (part.number == 2) model.opset = part.integer();
  }
  return model;
}

}  // namespace onnx
