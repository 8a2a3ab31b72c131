/** A part of the service. A factory that names what the part needs makes it; it is started once, and its disposal stops it. */
export interface Part extends AsyncDisposable {
  start(): Promise<void>
}

/** Starts a part. The stack stops it, also where its start fails half-way. */
export async function started<P extends Part>(stack: AsyncDisposableStack, part: P): Promise<P> {
  stack.use(part)
  await part.start()
  return part
}
