// CSVLogger.
#include <ebb/data/csv.h>
#include <ebb/data/text.h>
#include <ebb/watch/csv_logger.h>

#include "io/atomic_file.h"
#include "watch/rank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace ebb::watch {

namespace {

// Returns the lines of a table without an incomplete last one. A quoted cell may contain line ends.
std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines(1);
  bool is_quoted = false;
  for (const char c : data::read_text(path)) {
    is_quoted ^= c == '"';
    if (c == '\n' && !is_quoted)
      lines.emplace_back();
    else if (c != '\r' || is_quoted)  // a spreadsheet may have written the file
      lines.back() += c;
  }
  lines.pop_back();
  return lines;
}

std::string joined(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string cell = cells[i];
    if (cell.find_first_of("\",\r\n") != std::string::npos) {
      for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
        cell.insert(at, 1, '"');
      cell = '"' + cell + '"';
    }
    line += (i > 0 ? "," : "") + cell;
  }
  return line;
}

}  // namespace

CSVLogger::Cell::Cell(float value) : text(fmt::format("{}", value)) {}
CSVLogger::Cell::Cell(double value) : text(fmt::format("{}", value)) {}
CSVLogger::Cell::Cell(const Variable& value) {
  EBB_CHECK(value.defined() && value.numel() == 1, "CSVLogger::log: expected a tensor of one element, got ",
            value, ".");
  const bool whole = !value.is_floating_point();
  *this = whole                      ? Cell(value.item<std::int64_t>())
          : value.dtype() == kDouble ? Cell(value.item<double>())
                                     : Cell(value.item<float>());
}

CSVLogger::CSVLogger(std::string path, std::int64_t first_step) : path_(std::move(path)) {
  EBB_CHECK(!path_.empty(), "CSVLogger: the path is empty.");
  if (!writes_output()) return;
  std::vector<std::string> lines;
  if (first_step > 0 && std::filesystem::exists(path_)) lines = lines_of(path_);
  if (!lines.empty()) {
    columns_ = lines[0].empty() ? std::vector<std::string>{""}
                                : data::parse_csv(lines[0], {}, '"' + path_ + '"').column_names();
    EBB_CHECK(columns_[0] == "step", "CSVLogger: \"", path_, "\" begins with \"", columns_[0],
              "\", so it is not the file of a CSVLogger. Use another path, or remove the file.");
    lines.erase(lines.begin());
    std::erase_if(lines, [&](const std::string& line) {
      std::int64_t step = first_step;
      std::from_chars(line.data() + line.starts_with('"'), line.data() + line.size(), step);
      return step >= first_step;
    });
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  write(columns_, lines);
}

void CSVLogger::write(const std::vector<std::string>& columns, const std::vector<std::string>& lines) const {
  std::string text = joined(columns) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  io::AtomicFile file(path_);
  file.write(text.data(), text.size());
  file.commit();
}

void CSVLogger::log(std::int64_t step, const std::vector<std::pair<std::string, Cell>>& row) {
  if (!writes_output()) return;
  std::vector<std::string> columns = columns_, cells(columns.size());
  cells[0] = std::to_string(step);
  for (const auto& [name, cell] : row) {
    EBB_CHECK(name != "step", "CSVLogger::log: \"step\" is the name of the first column. Use another name.");
    const auto place =
        static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
    if (place == columns.size()) columns.push_back(name);
    cells.resize(columns.size());
    cells[place] = cell.text;
  }
  if (const std::size_t more = columns.size() - columns_.size(); more > 0) {
    std::vector<std::string> lines = lines_of(path_);
    if (!lines.empty()) lines.erase(lines.begin());
    for (std::string& line : lines) line.append(more, ',');
    lines.push_back(joined(cells));
    write(columns, lines);
    columns_ = std::move(columns);
    return;
  }
  const std::string text = joined(cells) + "\n";
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  const ssize_t written = file < 0 ? -1 : ::write(file, text.data(), text.size());
  const int error = written < 0 ? errno : ENOSPC;
  const bool complete = written == static_cast<ssize_t>(text.size());
  const bool whole = complete || written <= 0 || ::ftruncate(file, ::lseek(file, -written, SEEK_END)) == 0;
  if (file >= 0) ::close(file);
  EBB_CHECK(complete, "CSVLogger::log: cannot write to \"", path_, "\": ", std::strerror(error),
            whole ? "." : ". The last row is incomplete.");
}

}  // namespace ebb::watch
