/** As in JavaScript and PHP (`/^a$/i`, `#^a$#`), also after a name as in Laravel (`regex:/^a$/`). In JSON Schema, all of it is text. */
const DELIMITED = /^(?:[a-z]+:)?([/#~@%!`])\^.*\1[a-z]*$/s
const POSIX = /\[:\^?[a-z]+:\]/
/** Letters, separators and quotes of date formats, such as `yyyy-MM-dd'T'HH:mm:ssXXX`. */
const DATE_FORMAT = /^[yYMdDhHmsSzZXxTa'., :/_-]+$/
const DATE_PART = /([yYMdDhHms])\1+/g

/** Why an expression that ECMA-262 can parse means something else. Completes "The pattern …". Undefined if it does not. */
export function foreignNotation(pattern: string): string | undefined {
  if (DELIMITED.test(pattern)) return 'is written between delimiters, so no text matches it'
  if (POSIX.test(pattern)) return 'has a character class of POSIX, which is not a part of ECMA-262'
  const isDate = DATE_FORMAT.test(pattern) && (pattern.match(DATE_PART)?.length ?? 0) > 1
  return isDate ? 'is a format of dates or times, not a regular expression' : undefined
}
