/** Sets a member of any name. Assigning to `__proto__` would set the prototype. */
export function setMember(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}
