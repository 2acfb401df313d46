// Summary: its table and its JSON.
#include <ebb/watch/summary.h>

#include "watch/terminal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
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

/// A printed row. At the last printed depth its figures include those of rows below.
struct Line {
  SummaryRow row;
  std::int64_t total;
  bool whole;  // all figures of the module are in this line

  // Returns `counted` if the line has parameters that no line above has, and otherwise the reason.
  std::string params(const std::string& counted) const {
    if (row.params == 0) return "--";
    if (row.recursive) return "(recursive)";
    return row.counted_params != 0 ? counted : whole ? "(shared)" : "--";
  }
};

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
       const std::string number = grouped(line.row.counted_params);
       return line.params(line.row.counted_trainable_params == 0 ? "(" + number + ")" : number);
     }},
    {"params_percent", "Param %", false,
     [](const Line& line) {
       const auto params = static_cast<double>(line.row.counted_params);
       return line.params(fmt::format("{:.2f}%", 100 * params / static_cast<double>(line.total)));
     }},
    {"kernel_size", "Kernel Shape", false,
     [](const Line& line) { return line.row.kernel.empty() ? "--" : "[" + line.row.kernel + "]"; }},
    {"mult_adds", "Mult-Adds", true,
     [](const Line& line) { return line.row.mult_adds == 0 ? "--" : grouped(line.row.mult_adds); }},
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

using Table = std::vector<std::vector<std::string>>;  // lines of cells; the first one is a header

std::string aligned(const Table& table, const std::string& totals) {
  std::vector<std::size_t> widths(table[0].size());
  for (const auto& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], terminal::width(cells[i]) + 2);
  const std::size_t whole = std::accumulate(widths.begin(), widths.end(), std::size_t{0}) - 2;
  const std::string divider = std::string(std::max<std::size_t>(whole, 40), '=') + "\n";
  std::string out = divider;
  for (const auto& cells : table) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) text += fmt::format("{:<{}}", cells[i], widths[i]);
    out += text.erase(text.find_last_not_of(' ') + 1) + "\n" + (&cells == table.data() ? divider : "");
  }
  return out + divider + totals + divider;
}

}  // namespace

std::string Summary::str() const {
  std::vector<const Column*> columns;
  for (const std::string& name : options.columns()) {
    const Column* const found = std::ranges::find(kColumns, name, &Column::name);
    EBB_CHECK(
        found != std::end(kColumns), "summary: there is no column '", name,
        "'. The columns are input_size, output_size, num_params, params_percent, kernel_size, mult_adds "
        "and trainable.");
    if (ran || !found->needs_call) columns.push_back(found);
  }
  Table table{{options.names() ? "Layer (type (var_name):depth-idx)" : "Layer (type:depth-idx)"}};
  for (const Column* column : columns) table[0].emplace_back(column->title);
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (row->depth > options.depth() || (options.hide_recursive() && row->recursive)) continue;
    Line line{*row, total_params, true};
    for (auto at = row + 1; at != rows.end() && at->depth > row->depth; ++at) {
      line.whole = row->depth == options.depth();
      if (!line.whole) break;
      line.row.counted_params += at->counted_params;
      line.row.counted_trainable_params += at->counted_trainable_params;
      line.row.mult_adds += at->mult_adds;
    }
    auto& cells = table.emplace_back(1, indent(row->depth, options.ascii()) + row->type);
    if (options.names() && row->depth > 0) cells[0] += " (" + row->name + ")";
    if (row->depth > 0) cells[0] += fmt::format(": {}-{}", row->depth, row->index);
    for (const Column* column : columns) cells.push_back(column->text(line));
    if (!options.parameters() || row->recursive) continue;
    for (const auto& [name, sizes, count, trainable] : row->own)
      table.push_back({fmt::format("{}{}: {}, {} elements{}", indent(row->depth + 1, options.ascii()), name,
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
  totals += fmt::format("Total mult-adds ({}): {:.2f}\n", unit, products / size);
  for (const auto& [name, bytes] :
       {std::pair("Input size", input_bytes),
        {"Forward/backward pass size", forward_backward_bytes},
        {"Params size", param_bytes},
        {"Estimated Total Size", input_bytes + forward_backward_bytes + param_bytes}})
    totals += fmt::format("{} (MB): {:.2f}\n", name, static_cast<double>(bytes) / 1e6);
  return aligned(table, totals);
}

std::string Summary::json() const {
  return nlohmann::json(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::ostream& operator<<(std::ostream& stream, const Summary& summary) { return stream << summary.str(); }

}  // namespace ebb::watch
