// A button that copies a text. Fetched where one is shown.

import { h, useState } from './elements.js'

/** Copies, and tells that it did; where the browser does not let it, the text is there to be marked. */
export function CopyButton({ text, copyText, copiedText, onCopied, ...props }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      onCopied?.()
    } catch {
      // Without https there is no clipboard.
    }
  }
  return h(
    'button',
    { type: 'button', ...props, onClick: copy },
    isCopied ? copiedText : copyText,
    h('span', { class: 'hidden', role: 'status' }, isCopied ? copiedText : ''),
  )
}
