const PAYLOAD_BYTES = 1024

/** A JSON object of exactly 1 KiB that is unique to a worker, so that a misrouted response is detected. */
export function payload(worker: number): Buffer {
  const head = `{"worker":${String(worker).padStart(5)},"text":"`
  return Buffer.from(`${head.padEnd(PAYLOAD_BYTES - 2, 'lorem ipsum ')}"}`)
}
