/** Makes the disposal of a stack the disposal of a part: `return { …, ...closing(stack.move()) }`. */
export function closing(stack: AsyncDisposableStack): AsyncDisposable {
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
