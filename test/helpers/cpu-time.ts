/** CPU time of this process so far, in milliseconds. Unlike the time of a clock, it is the same on a busy machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
