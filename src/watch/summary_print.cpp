// Summary: its table and its JSON.
#include <ebb/watch/summary.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <utility>

namespace ebb::watch {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SummaryRow::Parameter, name, shape, count, trainable)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SummaryRow, path, name, type, kernel, depth, index, called, recursive,
                                   inputs, outputs, own, params, trainable_params, counted_params,
                                   counted_trainable_params, mult_adds, output_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Summary, rows, total_params, trainable_params, total_mult_adds,
                                   input_bytes, param_bytes, forward_backward_bytes)

namespace {

// Returns the number with commas: 11,689,512.
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), 1, ',');
  return text;
}

std::string shape(const SummaryRow::Shape& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }
std::string first(const std::vector<SummaryRow::Shape>& shapes) {
  return shapes.empty() ? "--" : shape(shapes[0]);
}

/// A printed row: its figures are those of the row, and at the last printed depth also those of rows below.
struct Line {
  const SummaryRow& row;
  std::int64_t params, trainable, mult_adds, total;
  bool whole;  // all figures of the module are in this line
};

std::string params(const Line& line, const std::string& counted) {
  if (line.row.params == 0) return "--";
  if (line.row.recursive) return "(recursive)";
  return line.params != 0 ? counted : line.whole ? "(shared)" : "--";
}

struct Column {
  const char *name, *title;
  bool needs_call;
  std::string (*text)(const Line&);
};
const Column kColumns[] = {
    {"input_size", "Input Shape", true, [](const Line& line) { return first(line.row.inputs); }},
    {"output_size", "Output Shape", true, [](const Line& line) { return first(line.row.outputs); }},
    {"num_params", "Param #", false,
     [](const Line& line) {
       const std::string number = grouped(line.params);
       return params(line, line.trainable == 0 ? "(" + number + ")" : number);
     }},
    {"params_percent", "Param %", false,
     [](const Line& line) {
       const auto share = static_cast<double>(line.params) / static_cast<double>(line.total);
       return params(line, fmt::format("{:.2f}%", 100 * share));
     }},
    {"kernel_size", "Kernel Shape", false,
     [](const Line& line) { return line.row.kernel.empty() ? "--" : "[" + line.row.kernel + "]"; }},
    {"mult_adds", "Mult-Adds", true,
     [](const Line& line) { return line.mult_adds == 0 ? "--" : grouped(line.mult_adds); }},
    {"trainable", "Trainable", false,
     [](const Line& line) -> std::string {
       if (line.row.params == 0) return "--";
       if (line.row.trainable_params == 0) return "False";
       return line.row.trainable_params == line.row.params ? "True" : "Partial";
     }},
};

std::string indent(std::int64_t depth, bool ascii) {
  std::string text;
  for (std::int64_t i = 1; i < depth; ++i) text += ascii ? "|    " : "│    ";
  return depth == 0 ? "" : text + (ascii ? "+ " : depth == 1 ? "├─" : "└─");
}

// Counts the characters of UTF-8 text.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Aligns the cells of a table whose first line is a header.
std::string aligned(const std::vector<std::vector<std::string>>& table, const std::string& totals) {
  std::vector<std::size_t> widths(table[0].size());
  for (const auto& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], width(cells[i]));
  std::size_t whole = 2 * widths.size() - 2;
  for (const std::size_t each : widths) whole += each;
  const std::string divider = std::string(std::max<std::size_t>(whole, 40), '=') + "\n";
  std::string out = divider;
  for (const auto& cells : table) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i)
      text += cells[i] + std::string(widths[i] + 2 - width(cells[i]), ' ');
    out += text.erase(text.find_last_not_of(' ') + 1) + "\n" + (&cells == table.data() ? divider : "");
  }
  return out + divider + totals + divider;
}

}  // namespace

std::string Summary::str() const {
  std::vector<const Column*> columns;
  for (const std::string& name : options.columns()) {
    const auto found = std::find_if(std::begin(kColumns), std::end(kColumns),
                                    [&](const Column& c) { return c.name == name; });
    EBB_CHECK(
        found != std::end(kColumns), "summary: there is no column '", name,
        "'. The columns are input_size, output_size, num_params, params_percent, kernel_size, mult_adds "
        "and trainable.");
    if (ran || !found->needs_call) columns.push_back(found);
  }
  std::vector<std::vector<std::string>> table{
      {options.names() ? "Layer (type (var_name):depth-idx)" : "Layer (type:depth-idx)"}};
  for (const Column* column : columns) table[0].emplace_back(column->title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SummaryRow& row = rows[i];
    if (row.depth > options.depth() || (options.hide_recursive() && row.recursive)) continue;
    Line line{row, row.counted_params, row.counted_trainable_params, row.mult_adds, total_params, true};
    for (std::size_t j = i + 1; line.whole && j < rows.size() && rows[j].depth > row.depth; ++j) {
      line.whole = row.depth == options.depth();
      if (!line.whole) break;
      line.params += rows[j].counted_params;
      line.trainable += rows[j].counted_trainable_params;
      line.mult_adds += rows[j].mult_adds;
    }
    auto& cells = table.emplace_back(1, indent(row.depth, options.ascii()) + row.type);
    if (options.names() && row.depth > 0) cells[0] += " (" + row.name + ")";
    if (row.depth > 0) cells[0] += fmt::format(": {}-{}", row.depth, row.index);
    for (const Column* column : columns) cells.push_back(column->text(line));
    if (!options.parameters() || row.recursive) continue;
    for (const auto& [name, sizes, count, trainable] : row.own)
      table.push_back({fmt::format("{}{}: {}, {} elements{}", indent(row.depth + 1, options.ascii()), name,
                                   shape(sizes), grouped(count), trainable ? "" : ", not trainable")});
  }
  std::string totals =
      fmt::format("Total params: {}\nTrainable params: {}\nNon-trainable params: {}\n", grouped(total_params),
                  grouped(trainable_params), grouped(total_params - trainable_params));
  if (!ran) return aligned(table, totals);
  const auto products = static_cast<double>(total_mult_adds);
  const auto [unit, size] = products >= 1e12  ? std::pair('T', 1e12)
                            : products >= 1e9 ? std::pair('G', 1e9)
                                              : std::pair('M', 1e6);
  const auto megabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  return aligned(table,
                 totals + fmt::format("Total mult-adds ({}): {:.2f}\nInput size (MB): {:.2f}\n"
                                      "Forward/backward pass size (MB): {:.2f}\nParams size (MB): {:.2f}\n"
                                      "Estimated Total Size (MB): {:.2f}\n",
                                      unit, products / size, megabytes(input_bytes),
                                      megabytes(forward_backward_bytes), megabytes(param_bytes),
                                      megabytes(input_bytes + forward_backward_bytes + param_bytes)));
}

std::string Summary::json() const {
  return nlohmann::json(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::ostream& operator<<(std::ostream& stream, const Summary& summary) { return stream << summary.str(); }

}  // namespace ebb::watch
