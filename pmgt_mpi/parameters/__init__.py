"""Which numbers a method gets: every word of its section made one."""
