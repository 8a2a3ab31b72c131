import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { ProfileBackup } from '../profile/profile-backup.ts'
import type { AdminInit } from './admin-init.ts'
import { parse } from './problems.ts'

export const backupSchema = z.strictObject({ directory: z.string().min(1).max(4096) })

/** `POST /backups`: copies the profile into a new directory of this machine while the node runs. */
export function backupRoute(app: FastifyInstance, { backUp }: AdminInit): void {
  app.post('/backups', async (request, reply): Promise<ProfileBackup> => {
    const { directory } = parse(backupSchema, request.body)
    const made = await backUp(directory)
    reply.code(201)
    return made
  })
}
