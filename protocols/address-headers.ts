/** Response headers with one address each. Azure's APIs name the state of a long operation in the last two. */
export const ADDRESS_HEADERS: ReadonlySet<string> = new Set([
  'location',
  'content-location',
  'operation-location',
  'azure-asyncoperation'
])
