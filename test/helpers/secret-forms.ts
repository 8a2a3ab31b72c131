/** Encodings in which a secret could appear in a log, a file or a response. */
export function secretForms(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString('hex'),
    // Omits the first and last characters, because their encoding depends on adjacent characters.
    ...[0, 1, 2].map((at) =>
      Buffer.from(secret.slice((3 - at) % 3))
        .toString('base64')
        .slice(0, -4)
    )
  ]
}
