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
            --agent|--api|--attribute|--cacert|--cert|--count|--file|--key|--label|--limit|--master|--output|--path|--principal|--reserver|--role|--secret-file|--timeout|--under|--wait-for|-f|-o) skip=1; continue ;;
        esac
        case "$path $word" in
            'mesosctl quota'|'mesosctl quota check'|'mesosctl quota list'|'mesosctl quota remove'|'mesosctl quota set'|'mesosctl quota show'|'mesosctl quota update'|'mesosctl reservations'|'mesosctl reserve'|'mesosctl unreserve'|'mesosctl volumes'|'mesosctl volumes create'|'mesosctl volumes destroy'|'mesosctl volumes list') path="$path $word" ;;
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
        --role) return ;;
        --agent) return ;;
        --wait-for) return ;;
        --under) return ;;
        --label) return ;;
        --reserver) return ;;
        --count) return ;;
        --attribute) return ;;
        --path) return ;;
    esac
    case "$path" in
        'mesosctl') COMPREPLY=($(compgen -W "quota reservations reserve unreserve volumes --version --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota') COMPREPLY=($(compgen -W "check list remove set show update --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose --install-completion --show-completion -h --help" -- "$current")) ;;
        'mesosctl quota check') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota list') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota remove') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota set') COMPREPLY=($(compgen -W "--force -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota show') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota update') COMPREPLY=($(compgen -W "--limit --force --create -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl reservations') COMPREPLY=($(compgen -W "--role --agent --tree --wait-for --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl reserve') COMPREPLY=($(compgen -W "--role --under --label --reserver --any --count --attribute -f --file --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl unreserve') COMPREPLY=($(compgen -W "--role --under --label --reserver --all -f --file --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes') COMPREPLY=($(compgen -W "create destroy list --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose --install-completion --show-completion -h --help" -- "$current")) ;;
        'mesosctl volumes create') COMPREPLY=($(compgen -W "--role --under --label --reserver --path --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes destroy') COMPREPLY=($(compgen -W "--role --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes list') COMPREPLY=($(compgen -W "--role --agent --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
    esac
}
complete -F _mesosctl mesosctl
