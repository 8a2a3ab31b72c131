import { isObject } from '../../exact-json.ts'

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']
const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length
const isNumber = (value: unknown) => Number.isFinite(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isOneType = (value: unknown) => TYPES.includes(value)

/** Keywords that constrain a value by themselves, and the valid values of each. Other values are ignored. */
export const ASSERTIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) =>
    isOneType(value) || (isTexts(value) && (value as unknown[]).length > 0 && (value as unknown[]).every(isOneType)),
  enum: (value) => Array.isArray(value) && value.length > 0,
  const: () => true,
  format: isText,
  pattern: isText,
  required: isTexts,
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  maximum: isNumber,
  minimum: isNumber,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  maxLength: isCount,
  minLength: isCount,
  maxItems: isCount,
  minItems: isCount,
  uniqueItems: (value) => typeof value === 'boolean',
  maxProperties: isCount,
  minProperties: isCount,
  minContains: isCount,
  maxContains: isCount,
  dependentRequired: (value) => isObject(value) && Object.values(value).every(isTexts)
}
