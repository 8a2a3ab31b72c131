import { useState } from 'react'
import { Field } from './field.tsx'

interface FileFieldProps<T> {
  readonly label: string
  readonly hint?: string
  readonly accept: string
  readonly multiple?: boolean
  /** Names of files chosen earlier, shown when the user returns to the step. */
  readonly known: string | undefined
  readonly read: (files: readonly File[]) => Promise<T>
  readonly onRead: (read: T) => void
}

/** Reads files in the browser. The page sends them to its node only. */
export function FileField<T>({ label, hint, known, read, onRead, ...input }: FileFieldProps<T>) {
  const [fault, setFault] = useState<string>()
  const take = async (files: readonly File[]) => {
    try {
      onRead(await read(files))
      setFault(undefined)
    } catch (error) {
      setFault(error instanceof Error ? error.message : 'The file cannot be read.')
    }
  }
  return (
    <Field
      {...input}
      type="file"
      label={label}
      hint={known === undefined ? hint : `Read: ${known}`}
      fault={fault}
      required={known === undefined}
      onChange={({ target }) => void take([...(target.files ?? [])])}
    />
  )
}

/** Encodes the raw bytes, because the charset of a file is unknown. */
export async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}
