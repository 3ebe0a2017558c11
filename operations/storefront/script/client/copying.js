// A button that copies a text. Loaded on demand.

import { h, useState } from './elements.js'

/** Copies the text and reports it; if the browser refuses, the text can be selected by hand. */
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
