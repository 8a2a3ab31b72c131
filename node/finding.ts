import type { DoctorCheck } from './admin/api.ts'

/** What one look at a node found. */
export type Finding = DoctorCheck | Promise<DoctorCheck>

export const ok = (name: string, message: string): DoctorCheck => ({ name, result: 'ok', message })
/** It works, and somebody should know. */
export const warn = (name: string, message: string, hint: string): DoctorCheck => ({
  name,
  result: 'warn',
  message,
  hint
})
export const fail = (name: string, message: string, hint: string): DoctorCheck => ({
  name,
  result: 'fail',
  message,
  hint
})
