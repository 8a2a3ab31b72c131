import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface DownloadProps {
  /** Of the file. */
  readonly name: string
  readonly type: string
  readonly content: () => string | Promise<string>
  readonly children: ReactNode
}

/** Gives a text as a file. It is made on this page, when somebody asks for it. */
export function Download({ name, type, content, children }: DownloadProps) {
  const give = async () => {
    const url = URL.createObjectURL(new Blob([await content()], { type }))
    const link = document.createElement('a')
    link.href = url
    link.download = name
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <Button icon="download" onClick={() => void give()}>
      {children}
    </Button>
  )
}
