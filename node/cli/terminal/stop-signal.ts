/** One stop may arrive as two signals: timeout(1) signals the process and then its group, and npx passes on the terminal’s Ctrl-C. */
const REPEAT_MS = 500

/** Resolves at the first stop signal. A signal after `REPEAT_MS` ends the process at once, by the signal’s default action. */
export function stopSignal(): Promise<void> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  return new Promise((resolve) => {
    let isStopping = false
    const stop = () => {
      if (isStopping) return
      isStopping = true
      const release = () => {
        for (const signal of signals) process.off(signal, stop)
      }
      setTimeout(release, REPEAT_MS).unref()
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
    // The parent process has ended. Without this, nothing would stop the nodes of a demo.
    process.once('disconnect', stop)
    process.channel?.unref()
  })
}
