/** Resolves at the first request to stop. The second one ends the process at once, as it would without us. */
export function stopSignal(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of signals) process.off(signal, stop)
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
    // Started by a program that is gone, as the demo's nodes are: nobody would ever stop them.
    process.once('disconnect', stop)
    process.channel?.unref()
  })
}
