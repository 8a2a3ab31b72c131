/** As in JavaScript and PHP (`/^a$/i`, `#^a$#`), also after a name as in Laravel (`regex:/^a$/`). In JSON Schema, all of it is text. */
const DELIMITED = /^(?:[a-z]+:)?([/#~@%!`])(?:\^.*|.*[^\\]\$)\1[a-z]*$/s
/** An expression of JavaScript with flags (`/[a-z]/i`). Without special characters it may be a path. */
const FLAGGED = /^\/.*\/[dgimsuvy]+$/s
const SPECIAL = /[[(*+?{|\\]/
const POSIX = /\[:\^?[a-z]+:\]/
/** Letters, separators and quotes of date formats, such as `yyyy-MM-dd'T'HH:mm:ssXXX`. */
const DATE_FORMAT = /^[yYMdDhHmsSzZXxTa'., :/_-]+$/
const DATE_PART = /([yYMdDhHms])\1+/g

/** Why an expression that ECMA-262 can parse means something else. Completes "The pattern …". Undefined if it does not. */
export function foreignNotation(pattern: string): string | undefined {
  const isDelimited = DELIMITED.test(pattern) || (FLAGGED.test(pattern) && SPECIAL.test(pattern))
  if (isDelimited) return 'is written between delimiters, which JSON Schema takes as text'
  if (POSIX.test(pattern)) return 'has a character class of POSIX, which is not a part of ECMA-262'
  const isDate = DATE_FORMAT.test(pattern) && (pattern.match(DATE_PART)?.length ?? 0) > 1
  return isDate ? 'is a format of dates or times, not a regular expression' : undefined
}
