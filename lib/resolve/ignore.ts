/** For a promise whose failure somebody else hears of, or nobody has to. */
export const ignore = (): void => undefined
