import { Problem } from '../admin/client.ts'
import { Button } from './button.tsx'

interface TroubleProps {
  readonly error: Error
  readonly onRetry?: () => void
  /** True if the page below still shows older data. */
  readonly isStale?: boolean
}

/** The node's error message and a hint. */
export function ErrorNotice({ error, onRetry, isStale = false }: TroubleProps) {
  const { code, requestId } = error instanceof Problem ? error : { code: 'internal_error', requestId: undefined }
  return (
    <div className="notice" role="alert">
      <p>
        <strong>{code === 'offline' ? 'The node does not respond.' : 'That did not work.'}</strong> {error.message}
        {isStale && ' What is shown below is from before.'}
      </p>
      <p className="quiet small">
        <code>{code}</code>
        {requestId !== undefined && (
          <>
            {' · request '}
            <span className="id">{requestId}</span>
          </>
        )}
      </p>
      {onRetry !== undefined && (
        <div>
          <Button icon="again" onClick={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  )
}
