import { spawn } from 'node:child_process'
import type { Environment } from '../../config.ts'

/** Opens URLs with the desktop's own program, if this terminal has a display and is not remote. */
export function openInBrowserOf(env: Environment): (url: string) => Promise<boolean> {
  return async (url) => {
    const [command, ...args] = openerOf(process.platform)
    const hasDisplay = process.platform !== 'linux' || (env['DISPLAY'] ?? env['WAYLAND_DISPLAY'] ?? '') !== ''
    if (command === undefined || !hasDisplay || env['SSH_CONNECTION'] !== undefined) return false
    return new Promise((resolve) => {
      const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
      child.once('error', () => resolve(false))
      child.once('spawn', () => {
        child.unref()
        resolve(true)
      })
    })
  }
}

function openerOf(platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return platform === 'linux' ? ['xdg-open'] : []
}
