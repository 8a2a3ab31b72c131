import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A separate machine on a network: a Linux network namespace with its own interfaces, addresses and ports. */
export interface Machine {
  /** Starts a program on the machine. It ends with the machine. */
  spawn(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess
  /** Runs a program on the machine to its end. Rejects if the program fails. */
  run(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }>
}

export interface Machines {
  readonly all: readonly Machine[]
  /** Plugs in or pulls out a machine's network cable. Addresses and connections stay. */
  plug(index: number, isIn: boolean): Promise<void>
  /** Ends all programs, and removes the machines. */
  close(): Promise<void>
}

/** Why this machine cannot create network namespaces, in one line; undefined if it can. */
export function whyNoMachines(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are of Linux'
  const name = `souk-try-${process.pid}`
  const { error, status, stderr } = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' })
  if (error !== undefined) return 'there is no `ip` command (package iproute2)'
  if (status !== 0) return `no right to make network namespaces (${stderr.trim().split('\n')[0]})`
  spawnSync('ip', ['netns', 'del', name])
  return undefined
}

/**
 * Creates machines on one isolated network, so that any addresses may be used.
 * @param addresses the addresses of each machine, such as `11.1.1.1/24`
 * @param network distinguishes several networks of one test
 */
export async function machines(addresses: ReadonlyArray<readonly string[]>, network = 'net'): Promise<Machines> {
  const prefix = `souk-${process.pid}-${network}`
  const hub = `${prefix}-hub`
  const made: string[] = []
  const running = new Set<ChildProcess>()
  const ip = (command: string) => run('ip', command.split(' '))
  const add = async (name: string) => {
    await ip(`netns add ${name}`)
    made.push(name)
  }
  async function close(): Promise<void> {
    const ended = [...running].map((child) => once(child, 'exit'))
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(ended)
    for (const name of made.splice(0)) await ip(`netns del ${name}`)
  }
  function machineIn(name: string): Machine {
    // `ip netns exec` is replaced by the program, so there is no intermediate process.
    const inside = (program: string, args: readonly string[]) => ['netns', 'exec', name, program, ...args]
    return {
      spawn(program, args, env = process.env) {
        const child = spawn('ip', inside(program, args), { env, stdio: ['ignore', 'pipe', 'pipe'] })
        running.add(child)
        child.once('exit', () => running.delete(child))
        return child
      },
      run: (program, args, env = process.env) => run('ip', inside(program, args), { env })
    }
  }

  try {
    await add(hub)
    await ip(`-n ${hub} link add bridge0 type bridge`)
    await ip(`-n ${hub} link set bridge0 up`)
    const names = addresses.map((_, index) => `${prefix}-${index}`)
    for (const [index, name] of names.entries()) {
      await add(name)
      await ip(`-n ${hub} link add port${index} type veth peer name eth0 netns ${name}`)
      await ip(`-n ${hub} link set port${index} master bridge0 up`)
      await ip(`-n ${name} link set lo up`)
      for (const address of addresses[index] ?? []) {
        // The network is isolated, so duplicate address detection would only take time.
        await ip(`-n ${name} addr add ${address} dev eth0${address.includes(':') ? ' nodad' : ''}`)
      }
      await ip(`-n ${name} link set eth0 up`)
    }
    return {
      all: names.map(machineIn),
      plug: async (index, isIn) => void (await ip(`-n ${hub} link set port${index} ${isIn ? 'up' : 'down'}`)),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}
