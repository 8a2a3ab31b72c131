import { DoesNotApply } from './check.ts'

/** Whether one rule of the specification holds at an implementation. */
export interface Finding {
  readonly section: string
  readonly rule: string
  readonly result: 'holds' | 'broken' | 'skipped'
  /** The behaviour of the implementation if the rule is broken, or the reason why the check was skipped. */
  readonly detail: string
}

/** Runs the check of one rule. The rule is broken if the check throws, and skipped if it throws `DoesNotApply`. */
export async function judged(
  { section, rule }: Pick<Finding, 'section' | 'rule'>,
  check: () => void | Promise<void>
): Promise<Finding> {
  try {
    await check()
    return { section, rule, result: 'holds', detail: '' }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { section, rule, result: error instanceof DoesNotApply ? 'skipped' : 'broken', detail }
  }
}
