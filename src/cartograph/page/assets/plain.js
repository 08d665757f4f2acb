// A page without a map.

build();
