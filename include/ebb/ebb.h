// Everything a program needs: #include <ebb/ebb.h>.
#pragma once

