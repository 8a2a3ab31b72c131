import type { AddCommand } from '../cli.ts'

export const addDemo: AddCommand = (to, cli) => {
  to.command('demo')
    .description('run a demo marketplace on this machine, with three APIs to call')
    .option('--once', 'end after the first calls')
    .action(async ({ once }: { once?: boolean }) => {
      const { runDemo } = await import('../../demo/run-demo.ts')
      cli.exitCode = await runDemo({
        once: once === true,
        json: cli.json,
        env: cli.terminal.env,
        stdout: (line) => void cli.terminal.write(`${line}\n`),
        stderr: cli.terminal.note,
        stopped: cli.terminal.stopped()
      })
    })
}
