/** A client of an ingress, for browsers, Deno, Bun and Node.js. It uses the web platform only, and has no dependencies. */

export { createClient } from './create-client.ts'
export type { Client, ClientInit, TypedApi, TypedOperation } from './create-client.ts'
export { isSoukError, SoukError } from './souk-error.ts'
export type { ClientErrorCode, SoukErrorInit } from './souk-error.ts'
export type { CallOptions } from './request.ts'
export type { Answer, AnswerHead } from './answer.ts'
export type { ItemStream, StreamItem } from './item-stream.ts'
export type { PaymentHook, PaymentOption, PaymentTerms } from './payment.ts'
