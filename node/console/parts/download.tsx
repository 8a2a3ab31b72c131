import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface DownloadProps {
  /** Name of the file. */
  readonly name: string
  readonly type: string
  readonly content: () => string | Promise<string>
  readonly children: ReactNode
}

/** Downloads a text as a file. The text is generated on click. */
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
