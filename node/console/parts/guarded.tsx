import { Component, type ReactNode } from 'react'
import { ErrorNotice } from './error-notice.tsx'

interface GuardedProps {
  /** A new value renders the children again after an error. */
  readonly place: string
  readonly children: ReactNode
}

interface GuardedState {
  readonly error: Error | undefined
  readonly place: string
}

/** Error boundary: an error on one page does not break the console. */
export class Guarded extends Component<GuardedProps, GuardedState> {
  override state: GuardedState = { error: undefined, place: this.props.place }

  static getDerivedStateFromError(error: Error): Partial<GuardedState> {
    return { error }
  }

  static getDerivedStateFromProps({ place }: GuardedProps, state: GuardedState): Partial<GuardedState> | null {
    return place === state.place ? null : { place, error: undefined }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <ErrorNotice error={error} onRetry={() => this.setState({ error: undefined })} />
  }
}
