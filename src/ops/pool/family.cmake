ebb_family(LOOPS ALL SMALL cpu_grid cpu_resize)
