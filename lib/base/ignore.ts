/** Handler for promise rejections that are reported elsewhere or need no report. */
export const ignore = (): void => undefined
