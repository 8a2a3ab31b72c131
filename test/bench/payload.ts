const PAYLOAD_BYTES = 1024

/** A JSON object of exactly 1 KiB that no other worker sends: an answer that went astray is noticed. */
export function payload(worker: number): Buffer {
  const head = `{"worker":${String(worker).padStart(5)},"text":"`
  return Buffer.from(`${head.padEnd(PAYLOAD_BYTES - 2, 'lorem ipsum ')}"}`)
}
