/** Preloaded into a node: it hangs when told to. */
process.on('SIGUSR2', function hangOnPurpose() {
  for (;;);
})
