/** Asks a proxy such as nginx to pass a stream on as it arrives. By default it collects several kilobytes first. */
export const UNBUFFERED = ['X-Accel-Buffering', 'no'] as const
