/** The code of an error of the server, https://www.postgresql.org/docs/current/errcodes-appendix.html. Undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  const isFromServer = error instanceof Error && 'severity' in error && 'code' in error
  return isFromServer && typeof error.code === 'string' ? error.code : undefined
}
