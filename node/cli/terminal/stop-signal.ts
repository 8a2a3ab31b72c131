/** Resolves at the first stop signal. The second one ends the process at once, by the signal's default action. */
export function stopSignal(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) process.off(signal, stop)
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
    // The parent process has ended. Without this, nothing would stop the nodes of a demo.
    process.once('disconnect', stop)
    process.channel?.unref()
  })
}
