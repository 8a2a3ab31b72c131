import { GCProfiler } from 'node:v8'

/** The resources that one process used. */
export interface Spent {
  /** CPU time of the whole process: threads for disk, hashing and garbage collection are part of a call's cost. */
  readonly userUs: number
  readonly systemUs: number
  readonly gcUs: number
  /** Heap that it allocated, collected or not. */
  readonly heapBytes: number
}

/** Measures this process from now on. Returns a function that ends the measurement. */
export function watchSpending(): () => Spent {
  const cpu = process.cpuUsage()
  let used = process.memoryUsage().heapUsed
  const profiler = new GCProfiler()
  profiler.start()
  return () => {
    const { statistics } = profiler.stop()
    let [gcUs, heapBytes] = [0, 0]
    const allocatedUntil = (now: number) => (heapBytes += Math.max(0, now - used))
    for (const { cost, beforeGC, afterGC } of statistics) {
      gcUs += cost
      allocatedUntil(beforeGC.heapStatistics.usedHeapSize)
      used = afterGC.heapStatistics.usedHeapSize
    }
    allocatedUntil(process.memoryUsage().heapUsed)
    const { user: userUs, system: systemUs } = process.cpuUsage(cpu)
    return { userUs, systemUs, gcUs, heapBytes }
  }
}
