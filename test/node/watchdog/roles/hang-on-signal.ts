/** Preloaded into a node. SIGUSR2 makes it hang. */
process.on('SIGUSR2', function hangOnPurpose() {
  for (;;);
})
