import type { DoctorCheck } from './admin/api.ts'

/** The result of one check. */
export type Finding = DoctorCheck | Promise<DoctorCheck>

export const ok = (name: string, message: string): DoctorCheck => ({ name, result: 'ok', message })
/** Works, but needs attention. */
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
