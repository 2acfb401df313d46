// CSVLogger.
#include <ebb/data/text.h>
#include <ebb/watch/csv_logger.h>

#include "io/atomic_file.h"
#include "watch/rank.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace ebb::watch {

namespace {

// Returns the fewest digits that give the same number.
template <class T>
std::string shortest(T value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

}  // namespace

CSVLogger::Cell::Cell(float value) : text(shortest(value)) {}
CSVLogger::Cell::Cell(double value) : text(shortest(value)) {}
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
  Table rows;
  if (first_step > 0 && std::filesystem::exists(path_)) rows = read();
  if (!rows.empty()) {
    EBB_CHECK(rows[0][0] == "step", "CSVLogger: \"", path_, "\" begins with \"", rows[0][0],
              "\", so it is not the file of a CSVLogger. Use another path, or remove the file.");
    columns_ = rows[0];
    std::erase_if(rows, [&](const std::vector<std::string>& row) {
      std::int64_t step = first_step;  // stays for the line of names
      std::from_chars(row[0].data(), row[0].data() + row[0].size(), step);
      return step >= first_step;
    });
  }
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  rewrite(rows);
}

// Returns the lines of the file without an incomplete last one.
CSVLogger::Table CSVLogger::read() const {
  const std::string text = data::read_text(path_);
  Table rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      row.back() += text[++i];
    else if (text[i] == '"')
      quoted = !quoted;
    else if (text[i] == ',' && !quoted)
      row.emplace_back();
    else if (text[i] == '\n' && !quoted)
      rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    else if (text[i] != '\r' || quoted)  // a spreadsheet may have written the file
      row.back() += text[i];
  }
  return rows;
}

std::string CSVLogger::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::string cell = i < cells.size() ? cells[i] : "";
    if (cell.find_first_of("\",\r\n") != std::string::npos) {
      for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2)
        cell.insert(at, 1, '"');
      cell = '"' + cell + '"';
    }
    text += (i > 0 ? "," : "") + cell;
  }
  return text + "\n";
}

void CSVLogger::rewrite(const Table& rows) const {
  std::string text = line(columns_);
  for (const std::vector<std::string>& row : rows) text += line(row);
  io::AtomicFile file(path_);
  file.write(text.data(), text.size());
  file.commit();
}

void CSVLogger::log(std::int64_t step, const std::vector<std::pair<std::string, Cell>>& row) {
  if (!writes_output()) return;
  const std::size_t known = columns_.size();
  std::vector<std::string> cells{std::to_string(step)};
  for (const auto& [name, cell] : row) {
    EBB_CHECK(name != "step", "CSVLogger::log: \"step\" is the name of the first column. Use another name.");
    const auto place =
        static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), name) - columns_.begin());
    if (place == columns_.size()) columns_.push_back(name);
    cells.resize(std::max(cells.size(), place + 1));
    cells[place] = cell.text;
  }
  if (columns_.size() > known) {
    Table rows = read();
    if (!rows.empty()) rows.erase(rows.begin());
    rows.push_back(cells);
    return rewrite(rows);
  }
  const std::string text = line(cells);
  const int file = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  struct stat before{};
  ssize_t written = -1;
  if (file >= 0 && ::fstat(file, &before) == 0) written = ::write(file, text.data(), text.size());
  const int error = written < 0 ? errno : ENOSPC;
  const bool complete = written == static_cast<ssize_t>(text.size());
  const bool whole = complete || written <= 0 || ::ftruncate(file, before.st_size) == 0;
  if (file >= 0) ::close(file);
  EBB_CHECK(complete, "CSVLogger::log: cannot write to \"", path_, "\": ", std::strerror(error),
            whole ? "." : ". The last row is incomplete.");
}

}  // namespace ebb::watch
