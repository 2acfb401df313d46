// Tests of the eval ba against rotation matrices, one observation at a time.
#include "support/catch.h"
#include "tool.h"

#include <cmath>

using namespace gradbench_test;

namespace {

// Returns the weighted error in x or y of one observation. `p` has 11 parameters of the camera, 3 of the
// point, and the weight.
double error(const Numbers& p, const Numbers& seen, std::size_t axis) {
  const double angle = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  const double one = angle > 0 ? angle : 1;  // R = I + sin(angle) K + (1 - cos(angle)) K^2
  const double n[3] = {p[0] / one, p[1] / one, p[2] / one};
  const double k[3][3] = {{0, -n[2], n[1]}, {n[2], 0, -n[0]}, {-n[1], n[0], 0}};
  double in_camera[3] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double square = 0;
      for (int l = 0; l < 3; ++l) square += k[i][l] * k[l][j];
      const double r = (i == j) + std::sin(angle) * k[i][j] + (1 - std::cos(angle)) * square;
      in_camera[i] += r * (p[11 + static_cast<std::size_t>(j)] - p[3 + static_cast<std::size_t>(j)]);
    }
  const double u = in_camera[0] / in_camera[2], v = in_camera[1] / in_camera[2], square = u * u + v * v;
  const double distorted = (axis == 0 ? u : v) * (1 + p[9] * square + p[10] * square * square);
  return p[14] * (distorted * p[6] + p[7 + axis] - seen[axis]);
}

struct Scene {
  Numbers camera{0.3, -0.2, 0.4, 0.1, 0.2, -0.5, 1.3, 0.05, -0.1, 0.02, 0.01};
  Numbers point{0.6, 0.3, 4.0};
  double weight = 0.8;
  Numbers seen{0.2, -0.4};

  Json input(int cameras, int points, int observations) const {
    return {{"n", cameras}, {"m", points}, {"p", observations}, {"cam", camera},
            {"x", point},   {"w", weight}, {"feat", seen}};
  }
  Numbers parameters() const {
    Numbers all = camera;
    all.insert(all.end(), point.begin(), point.end());
    all.push_back(weight);
    return all;
  }
};

}  // namespace

TEST_CASE("ba: the errors of all observations") {
  const Scene scene;
  const Json output = output_of("ba", "objective", scene.input(3, 5, 20));
  const Numbers all = scene.parameters();
  check_close(output.at("reproj_error").at("elements"),
              {error(all, scene.seen, 0), error(all, scene.seen, 1)});
  CHECK(output.at("reproj_error").at("repeated") == 20);
  check_close(output.at("w_err").at("element"), {1 - scene.weight * scene.weight});
  CHECK(output.at("w_err").at("repeated") == 20);
}

TEST_CASE("ba: the values, rows and columns of the Jacobian") {
  const Scene scene;
  const Json output = output_of("ba", "jacobian", scene.input(3, 5, 20));
  Numbers values, columns, rows;
  for (const std::size_t axis : {0, 1}) {
    for (const double slope :
         slopes([&](const Numbers& at) { return error(at, scene.seen, axis); }, scene.parameters()))
      values.push_back(slope);
    // The columns of the first camera, of the first point (after three cameras), and of the first weight
    // (after five points).
    for (const double column : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 33, 34, 35, 48}) columns.push_back(column);
  }
  for (int row = 0; row < 30; ++row) rows.push_back(15 * row);
  values.push_back(-2 * scene.weight);
  columns.push_back(48 + 19);  // the column of the twentieth weight
  rows.push_back(20 * 31);     // the number of stored entries
  check_close(output.at("vals"), values);
  check_close(output.at("cols"), columns, 0);
  check_close(output.at("rows"), rows, 0);
}

TEST_CASE("ba: a camera without rotation") {
  Scene scene;
  scene.camera[0] = scene.camera[1] = scene.camera[2] = 0;
  const Json input = scene.input(1, 1, 16);
  check_close(output_of("ba", "objective", input).at("reproj_error").at("elements"),
              {error(scene.parameters(), scene.seen, 0), error(scene.parameters(), scene.seen, 1)});
  const Numbers given = output_of("ba", "jacobian", input).at("vals").get<Numbers>();
  for (const double value : given) CHECK(std::isfinite(value));
}
