/** A script that completes commands, options and the names of pods, which it asks the agent for. */
export function completion(shell: 'bash' | 'zsh'): string {
  return shell === 'bash' ? SCRIPT : `${ZSH}${SCRIPT}`;
}

/** zsh takes what is written for bash once its own completion is there, which many a .zshrc begins elsewhere. */
const ZSH = `(( $+functions[compdef] )) || { autoload -U compinit && compinit -u -D; }
autoload -U +X bashcompinit && bashcompinit
`;

/** Commands that take pods; those that take files are completed by the shell. */
const SCRIPT = `# Tab completion for rxlet: source <(rxlet completion bash), or zsh.
_rxlet() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "$(rxlet --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \\([a-z][a-z-]*\\) .*/\\1/p')" -- "$word"))
    return
  fi
  case "$before" in
    -o | --output)
      case "$command" in
        validate | plan | problems | trace | simulate | replay) COMPREPLY=($(compgen -W "text json" -- "$word")) ;;
        *) COMPREPLY=($(compgen -W "wide json yaml name" -- "$word")) ;;
      esac
      return ;;
    --socket | --config | --script | --config-dir | --root-dir | --pod-manifest-path | --record)
      COMPREPLY=($(compgen -f -- "$word"))
      return ;;
    completion)
      COMPREPLY=($(compgen -W "bash zsh" -- "$word"))
      return ;;
    volumes)
      COMPREPLY=($(compgen -W "ls rm" -- "$word"))
      return ;;
    get)
      COMPREPLY=($(compgen -W "pods events" -- "$word"))
      return ;;
  esac
  case "$word" in
    -*)
      COMPREPLY=($(compgen -W "$(rxlet "$command" --help 2>/dev/null | grep -oE -e '--[a-z-]+' | sort -u)" -- "$word"))
      return ;;
  esac
  case "$command" in
    validate | plan | simulate | replay) COMPREPLY=($(compgen -f -- "$word")) ;;
    run | version | completion | problems | volumes) ;;
    *) COMPREPLY=($(compgen -W "$(rxlet ps -o name 2>/dev/null | sed 's|^default/||')" -- "$word")) ;;
  esac
}
complete -o filenames -F _rxlet rxlet
`;
