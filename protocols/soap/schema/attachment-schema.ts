/** An attachment as JSON has it; on input, base64 text alone is accepted where the type is known or does not matter. */
export const ATTACHMENT_SCHEMA = {
  type: ['object', 'string'],
  contentEncoding: 'base64',
  properties: { contentType: { type: 'string' }, content: { type: 'string', contentEncoding: 'base64' } },
  required: ['content']
} as const
