import type { DoctorView } from '../../admin/api.ts'
import { forProfile } from '../../config.ts'
import type { AddCommand } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { type Failure, failureOf } from '../terminal/failure.ts'

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const

export const addDoctor: AddCommand = (to, cli) => {
  to.command('doctor')
    .description('diagnose problems of this node and suggest fixes; exits 1 if a check fails')
    .action(async () => {
      const view = await examine(async () => (await cli.node()).request('GET /doctor'))
      await cli.print(view, () => lines(view, cli.profile))
      if (!view.ok) cli.exitCode = EXIT.failed
    })
}

/** Reports a stopped node, or a profile that other users can read, as a failed check. */
async function examine(ask: () => Promise<DoctorView>): Promise<DoctorView> {
  try {
    return await ask()
  } catch (error) {
    const failure = failureOf(error)
    const name = FINDINGS[failure.code]
    if (name === undefined) throw error
    return {
      ok: false,
      checks: [{ name: 'node', result: 'ok', message: `Node.js ${process.version}` }, finding(name, failure)]
    }
  }
}

const FINDINGS: Readonly<Record<string, string>> = {
  node_not_running: 'running',
  node_silent: 'running',
  permissions_too_open: 'files',
  profile_broken: 'files'
}

function finding(name: string, { what, hint }: Failure): DoctorView['checks'][number] {
  return { name, result: 'fail', message: what, hint }
}

function lines({ checks }: DoctorView, profile: string | undefined): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks.flatMap(({ name, result, message, hint }) => [
    `${MARKS[result]}  ${name.padEnd(width)}  ${message}`,
    ...(hint === undefined ? [] : [`${' '.repeat(width + 8)}Try: ${forProfile(hint, profile)}`])
  ])
}
