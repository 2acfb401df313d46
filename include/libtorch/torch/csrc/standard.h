// Standard headers that libtorch's headers include and ebb's do not.
#pragma once

#include <bitset>
#include <cassert>
#include <cfloat>
#include <cinttypes>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <list>
#include <numeric>
#include <queue>
#include <set>
#include <stack>
#include <typeindex>
