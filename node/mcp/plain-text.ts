/** Untrusted text without control characters that move the cursor or hide lines, of bounded length. */
export function plainText(text: string, charsMax: number): string {
  const plain = text.replaceAll(/[^\P{C}\n]/gu, '').trim()
  return plain.length > charsMax ? `${plain.slice(0, charsMax)}…` : plain
}

/** The same in one line. */
export function plainLine(text: string, charsMax: number): string {
  return plainText(text.replaceAll(/\s+/g, ' '), charsMax)
}
