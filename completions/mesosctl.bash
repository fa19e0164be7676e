# bash completion for mesosctl; made from its commands by python -m mesosctl.cli.reference
_mesosctl() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local path=mesosctl word skip= i
    COMPREPLY=()
    # bash makes three words of --output=json
    if [[ $current == "=" ]]; then current=""
    elif [[ $previous == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ $word == "=" ]]; then continue; fi
        if [[ -n $skip ]]; then skip=; continue; fi
        case "$word" in
            --api|--burst|--cacert|--capacity|--cert|--count|--file|--for|--headroom|--interval|--key|--limit|--master|--memory|--message-size|--output|--principal|--qps|--secret-file|--svg|--timeout|--traffic|-f|-o) skip=1; continue ;;
        esac
        case "$path $word" in
            'mesosctl quota'|'mesosctl quota check'|'mesosctl quota list'|'mesosctl quota remove'|'mesosctl quota set'|'mesosctl quota show'|'mesosctl quota update'|'mesosctl ratelimit'|'mesosctl ratelimit default'|'mesosctl ratelimit plan'|'mesosctl ratelimit set'|'mesosctl ratelimit show'|'mesosctl ratelimit simulate'|'mesosctl ratelimit suggest'|'mesosctl ratelimit unset'|'mesosctl ratelimit validate'|'mesosctl ratelimit watch') path="$path $word" ;;
        esac
    done
    case "$previous" in
        --master) return ;;
        -o|--output) COMPREPLY=($(compgen -W "table wide json jsonl csv name" -- "$current")); return ;;
        --timeout) return ;;
        --principal) return ;;
        --secret-file) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --cacert) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --cert) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --key) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --api) COMPREPLY=($(compgen -W "auto v0 v1" -- "$current")); return ;;
        -f|--file) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --limit) return ;;
        --qps) return ;;
        --capacity) return ;;
        --memory) return ;;
        --message-size) return ;;
        --traffic) return ;;
        --svg) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --for) return ;;
        --interval) return ;;
        --headroom) return ;;
        --burst) return ;;
        --count) return ;;
    esac
    case "$path" in
        'mesosctl') COMPREPLY=($(compgen -W "quota ratelimit --version --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota') COMPREPLY=($(compgen -W "check list remove set show update --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota check') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota list') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota remove') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota set') COMPREPLY=($(compgen -W "--force -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota show') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota update') COMPREPLY=($(compgen -W "--limit --force --create -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit') COMPREPLY=($(compgen -W "default plan set show simulate suggest unset validate watch --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit default') COMPREPLY=($(compgen -W "-f --file --qps --capacity --none --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit plan') COMPREPLY=($(compgen -W "--memory --message-size --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit set') COMPREPLY=($(compgen -W "-f --file --qps --capacity --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit show') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit simulate') COMPREPLY=($(compgen -W "--traffic --svg --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit suggest') COMPREPLY=($(compgen -W "--for --interval --headroom --burst -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit unset') COMPREPLY=($(compgen -W "-f --file --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit validate') COMPREPLY=($(compgen -W "--live --strict --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit watch') COMPREPLY=($(compgen -W "--interval --count --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
    esac
}
complete -F _mesosctl mesosctl
