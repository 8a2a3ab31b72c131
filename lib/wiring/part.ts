/** A part of the service. Its factory names what the part needs. It is started once; disposal stops it. */
export interface Part extends AsyncDisposable {
  start(): Promise<void>
}

/** Starts a part. The stack stops it, even if its start fails half-way. */
export async function started<P extends Part>(stack: AsyncDisposableStack, part: P): Promise<P> {
  stack.use(part)
  await part.start()
  return part
}
